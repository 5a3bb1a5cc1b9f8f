"""Arrays as pictures: values and images, clouds of points, films."""
