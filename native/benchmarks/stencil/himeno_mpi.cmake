# Its messages are a part of its time: they are counted.
set(libraries counted)
