"""Applications: programs that clusters are bought for, each declared by one file of data."""
