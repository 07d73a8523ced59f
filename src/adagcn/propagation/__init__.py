"""Parameter-free propagation: normalization, the stream of hops, personalized PageRank."""
