"""The memory of processes that work beside a fit on a stored graph."""

from __future__ import annotations

from dataclasses import dataclass

from adagcn.engines import Engine, Serial

# Measured on Linux, beyond mapped files: an interpreter with what a worker imports, and what Ray
# runs beside its workers on a machine (server, dashboard, agents).
WORKER_BYTES, RAY_BYTES = 200 * 2**20, 300 * 2**20


@dataclass(frozen=True)
class Workers:
    """How many processes work at a time on this machine.

    Parameters
    ----------
    hops : int
        That make blocks of hops and score nodes; 0: the fit itself does.
    training : int
        That train a layer together; 0: the fit itself does.
    base_bytes : int
        Of what runs beside them.
    """

    hops: int = 0
    training: int = 0
    base_bytes: int = 0

    @classmethod
    def of(cls, engine: Engine) -> Workers:
        """Return the workers of an engine; those of a running cluster of Ray are not known."""
        if isinstance(engine, Serial) or getattr(engine, "address", None) is not None:
            return cls()
        workers: int = getattr(engine, "workers", 0)
        training: int | None = getattr(engine, "train_workers", None)
        if training is None:
            return cls(workers)
        # Ray starts as many workers as the larger number, and all of them make blocks.
        return cls(max(workers, training), training if training > 1 else 0, RAY_BYTES)

    def making(self, block: float, n_blocks: float) -> float:
        """Return the bytes of so many blocks in work, each of this many bytes."""
        return self.base_bytes + _by(min(self.hops, max(n_blocks, 1.0)), block)

    def trained(self, rows: float, learner: float) -> float:
        """Return the bytes of a training: rows that are shared and copied, and a network each."""
        idle = max(self.hops - self.training, 0) if self.base_bytes else 0  # Ray keeps them
        resting = self.base_bytes + idle * WORKER_BYTES
        if not self.training:
            return resting + learner
        return resting + 2.0 * rows + self.training * (WORKER_BYTES + learner)


def _by(n_workers: float, n_bytes: float) -> float:
    return n_workers * (WORKER_BYTES + n_bytes) if n_workers else n_bytes
