"""Packs the texts of scripts, which have most of their libraries in common, into one run of bytes.

What was there before is named by its length and how far back it began, however far that is. A byte
below 128 is a number of plain bytes less one, which follow. Another one is 128 and a length less LEAST,
with MOST where the rest of the length follows as a number; behind it stands the distance. A number has
seven bits in a byte, the lowest first, and 128 in all but its last. store/redis/unpack.c undoes it.
"""

import collections

LEAST, MOST, PLAIN = 4, 127, 128
LOOKS = 48  # earlier places that are tried for one


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return out


def length_at(data, first, second):
    """How far both places go on alike."""
    length, step = 0, 256
    while step:
        end = second + length + step
        if end <= len(data) and data[first + length:first + length + step] == data[second + length:end]:
            length += step
        else:
            step //= 2
    return length


def find(data, at, places):
    """The best earlier place: (bytes saved, length, distance)."""
    best = (0, 0, 0)
    for place in list(places[data[at:at + LEAST]])[::-1]:
        length = length_at(data, place, at)
        cost = 1 + len(number(at - place)) + (len(number(length)) if length - LEAST >= MOST else 0)
        best = max(best, (length - cost, length, place - at))
    return best[0], best[1], -best[2]


def plain_put(out, plain):
    for at in range(0, len(plain), PLAIN):
        part = plain[at:at + PLAIN]
        out.append(len(part) - 1)
        out += part
    plain.clear()


def pack(data):
    places = collections.defaultdict(lambda: collections.deque(maxlen=LOOKS))
    out, plain, at = bytearray(), bytearray(), 0
    while at < len(data):
        saved, length, distance = find(data, at, places)
        if saved > 0 and at + 1 < len(data):
            places[data[at:at + LEAST]].append(at)
            if length < 64 and find(data, at + 1, places)[0] > saved + 1:
                saved = 0  # one byte further it is better
            places[data[at:at + LEAST]].pop()
        if saved <= 0:
            length = 1
            plain.append(data[at])
        else:
            plain_put(out, plain)
            out.append(128 | min(length - LEAST, MOST))
            if length - LEAST >= MOST:
                out += number(length - LEAST - MOST)
            out += number(distance)
        for place in range(at, at + min(length, 32)):
            places[data[place:place + LEAST]].append(place)
        at += length
    plain_put(out, plain)
    return bytes(out)
