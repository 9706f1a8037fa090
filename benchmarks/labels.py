"""Where the names of points go, so that none covers another or a point."""
import math


class Labels:
    """Names are written downwards to the right, at one angle for all. `marks` are centers of what must stay visible,
    `frame` is left, right, top, bottom."""
    ANGLE = 50
    LETTER, LINE, MARK = 6.4, 12.0, 7.0  # width and height of text of 11 pixels, and the room of a mark

    def __init__(self, marks, frame):
        turn = math.radians(self.ANGLE)
        self.along, self.across = (math.cos(turn), math.sin(turn)), (math.sin(turn), -math.cos(turn))
        self.marks, self.frame, self.taken = [self.turned(mark) for mark in marks], frame, []

    def turned(self, at):
        """Along the text, and above its line."""
        return tuple(at[0] * axis[0] + at[1] * axis[1] for axis in (self.along, self.across))

    def is_free(self, at, length):
        begin, above = self.turned(at)
        end = begin + length
        stop = at[0] + length * self.along[0], at[1] + length * self.along[1]
        return (self.frame[0] <= at[0] and stop[0] <= self.frame[1] and self.frame[2] <= at[1] and stop[1] <= self.frame[3]
                and all(end < first or last < begin or abs(above - other) >= self.LINE for first, last, other in self.taken)
                and all(not (begin - self.MARK < v < end + self.MARK and -self.MARK < u - above - self.LINE / 3 < self.MARK)
                        for v, u in self.marks))

    @staticmethod
    def offsets():
        """Where a name may begin relative to its point: nearest first, rather beneath than beside it."""
        steps = [(float(x), float(y)) for y in range(-60, 260, 8) for x in range(-96, 100, 4)]
        return sorted(steps, key=lambda step: (math.hypot(2 * step[0], max(step[1], 40 - 4 * step[1])), step))

    def place(self, points):
        """Yields name, point, begin of the text for every name (name -> point) that has room; from left to right."""
        offsets = self.offsets()
        for name, point in sorted(points.items(), key=lambda item: (item[1], item[0])):
            length = self.LETTER * (len(name) + 2)
            for dx, dy in offsets:
                at = point[0] + dx, point[1] + dy
                if self.is_free(at, length):
                    begin, above = self.turned(at)
                    self.taken.append((begin, begin + length, above))
                    yield name, point, at
                    break
