"""The other systems of the paper and of its field, one small file each, behind one contract.

A file of this room says what a system computes and with which settings; :mod:`adagcn.estimators`
gives it scikit-learn's face. :mod:`adagcn.baselines.system` is the contract of all of them,
:mod:`adagcn.baselines.network` that of those that are networks.
"""
