from __future__ import annotations

import torch

from adagcn.engines.threads import threads


def test_threads_are_put_back():
    before = torch.get_num_threads()
    with threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
