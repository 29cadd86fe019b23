"""Sensitivity d' and criterion c of yes/no answers, with the log-linear correction.

Half a hit and half a false alarm are added and one trial of each class (Hautus 1995, Behavior Research Methods 27),
so that rates of 0 and 1 stay finite. c > 0 is reluctance to say "yes".
"""

import numpy as np
from scipy import stats

from firsthand.analysis.bootstrap import Clusters, ClusterSums, Totals
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import SignalDetection


def corrected_z(yes: FloatArray, trials: FloatArray) -> FloatArray:
    """z-score of a rate under the log-linear correction, ``Phi^-1((yes + 0.5) / (trials + 1))``."""
    return np.asarray(stats.norm.ppf((yes + 0.5) / (trials + 1.0)), dtype=np.float64)


def _d_prime(t: Totals) -> FloatArray:
    return corrected_z(t["hits"], t["n1"]) - corrected_z(t["alarms"], t["n0"])


def _criterion(t: Totals) -> FloatArray:
    return -0.5 * (corrected_z(t["hits"], t["n1"]) + corrected_z(t["alarms"], t["n0"]))


def signal_detection(truth: FloatArray, answer: FloatArray, clusters: Clusters, alpha: float) -> SignalDetection | None:
    """Both indices from the valid answers, with cluster intervals.

    Args:
        truth: 1.0 or 0.0 ``[trials]``.
        answer: 1.0 yes, 0.0 no, NaN invalid (left out) ``[trials]``.
        clusters: The independent units.
        alpha: One-sided level of each interval end.

    Returns:
        ``None`` where one of the classes has no valid answer.
    """
    valid = np.isfinite(answer)
    yes = np.where(valid, answer, 0.0)
    one, zero = valid & (truth == 1.0), valid & (truth == 0.0)
    if not one.any() or not zero.any():
        return None
    columns = {"n1": one.astype(float), "n0": zero.astype(float), "hits": yes * one, "alarms": yes * zero}
    sums = ClusterSums(columns, clusters)
    n1, n0, n = np.asarray(float(one.sum())), np.asarray(float(zero.sum())), int(valid.sum())
    most = float(corrected_z(n1, n1) - corrected_z(np.zeros(()), n0))
    d_prime = sums.measure(_d_prime, span=(-most, most), n_trials=n)
    criterion = sums.measure(_criterion, span=(-most / 2, most / 2), n_trials=n)
    return SignalDetection(d_prime=d_prime.estimate(alpha, 0.0), criterion=criterion.estimate(alpha))
