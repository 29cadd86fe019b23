"""The stages of an investigation as Inspect tasks, one a file: what one leaves in its log is the data of the next.

==============  =====================================================================================
``sample``      the target answers each prompt
``screen``      the screener rates how unexpected the answers are, and freezes one yes/no question
``classify``    that question is answered for each of them
``investigate`` an agent edits the prompt and sees what becomes of the behaviour, and files a report
``confirm``     the edits that the report speaks of are measured again, on fresh responses
``verify``      judges say how well the experiments support the report
``claim``       edits are put into words by a model that does not know what they did, and filtered
==============  =====================================================================================
"""
