"""Go's sort.Slice (src/sort/zsortfunc.go): not stable, so the order of equal elements is the algorithm's own.

kube-scheduler sorts preemption victims with it, and which of two equal victims is spared follows from that order. The
pattern-defeating quicksort below makes the same comparisons and swaps as Go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_INSERTION_LENGTH = 12
_NINTHER_LENGTH = 50
_MEDIAN_LENGTH = 8
_MOST_SWAPS = 4 * 3
_PARTIAL_STEPS = 5
_WORTH_SHIFTING = 50

_INCREASING, _DECREASING, _UNKNOWN = 1, -1, 0


def go_sort(items: list[T], less: Callable[[T, T], bool]) -> list[T]:
    """The items as sort.Slice leaves them."""
    sorter = _PdqSort(items, less)
    sorter.sort(0, len(items), len(items).bit_length())
    return sorter.items


class _PdqSort(Generic[T]):
    """One sort under way. Indices are half open: [first, last)."""

    def __init__(self, items: list[T], less: Callable[[T, T], bool]) -> None:
        self.items = list(items)
        self._less = less

    def less(self, left: int, right: int) -> bool:
        return self._less(self.items[left], self.items[right])

    def swap(self, left: int, right: int) -> None:
        items = self.items
        items[left], items[right] = items[right], items[left]

    def sort(self, first: int, last: int, limit: int) -> None:
        was_balanced = was_partitioned = True
        while True:
            length = last - first
            if length <= _INSERTION_LENGTH:
                self.insertion_sort(first, last)
                return
            if limit == 0:
                self.heap_sort(first, last)
                return
            if not was_balanced:
                self.break_patterns(first, last)
                limit -= 1
            pivot, hint = self.choose_pivot(first, last)
            if hint == _DECREASING:
                self.items[first:last] = self.items[first:last][::-1]
                pivot, hint = (last - 1) - (pivot - first), _INCREASING
            if was_balanced and was_partitioned and hint == _INCREASING and self.partial_insertion_sort(first, last):
                return
            if first > 0 and not self.less(first - 1, pivot):
                first = self.partition_equal(first, last, pivot)
                continue
            middle, was_partitioned = self.partition(first, last, pivot)
            left, right = middle - first, last - middle
            balance_threshold = length // 8
            if left < right:
                was_balanced = left >= balance_threshold
                self.sort(first, middle, limit)
                first = middle + 1
            else:
                was_balanced = right >= balance_threshold
                self.sort(middle + 1, last, limit)
                last = middle

    def insertion_sort(self, first: int, last: int) -> None:
        for index in range(first + 1, last):
            place = index
            while place > first and self.less(place, place - 1):
                self.swap(place, place - 1)
                place -= 1

    def heap_sort(self, first: int, last: int) -> None:
        length = last - first
        for root in range((length - 1) // 2, -1, -1):
            self.sift_down(root, length, first)
        for end in range(length - 1, -1, -1):
            self.swap(first, first + end)
            self.sift_down(0, end, first)

    def sift_down(self, root: int, length: int, first: int) -> None:
        while (child := 2 * root + 1) < length:
            if child + 1 < length and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def partition(self, first: int, last: int, pivot: int) -> tuple[int, bool]:
        """Return the pivot's final index, and whether nothing had to be swapped."""
        self.swap(first, pivot)
        left, right = first + 1, last - 1
        while left <= right and self.less(left, first):
            left += 1
        while left <= right and not self.less(right, first):
            right -= 1
        if left > right:
            self.swap(right, first)
            return right, True
        self.swap(left, right)
        left, right = left + 1, right - 1
        while True:
            while left <= right and self.less(left, first):
                left += 1
            while left <= right and not self.less(right, first):
                right -= 1
            if left > right:
                break
            self.swap(left, right)
            left, right = left + 1, right - 1
        self.swap(right, first)
        return right, False

    def partition_equal(self, first: int, last: int, pivot: int) -> int:
        """Elements equal to the pivot go first; where the others begin."""
        self.swap(first, pivot)
        left, right = first + 1, last - 1
        while True:
            while left <= right and not self.less(first, left):
                left += 1
            while left <= right and self.less(first, right):
                right -= 1
            if left > right:
                return left
            self.swap(left, right)
            left, right = left + 1, right - 1

    def partial_insertion_sort(self, first: int, last: int) -> bool:
        """Sort what is nearly sorted; whether that was all."""
        index = first + 1
        for _ in range(_PARTIAL_STEPS):
            while index < last and not self.less(index, index - 1):
                index += 1
            if index == last:
                return True
            if last - first < _WORTH_SHIFTING:
                return False
            self.swap(index, index - 1)
            if index - first >= 2:
                self.shift(range(index - 1, 0, -1))
            if last - index >= 2:
                self.shift(range(index + 1, last))
        return False

    def shift(self, places: range) -> None:
        """Swap neighbours as long as they are out of order."""
        for place in places:
            if not self.less(place, place - 1):
                return
            self.swap(place, place - 1)

    def break_patterns(self, first: int, last: int) -> None:
        """Scatter three elements, with a generator that the length alone seeds."""
        length = last - first
        if length < 8:
            return
        random = length
        modulus = 1 << length.bit_length()
        start = first + (length // 4) * 2 - 1
        for offset in range(3):
            random ^= (random << 13) & 0xFFFFFFFFFFFFFFFF
            random ^= random >> 7
            random ^= (random << 17) & 0xFFFFFFFFFFFFFFFF
            other = random & (modulus - 1)
            if other >= length:
                other -= length
            self.swap(start + offset, first + other)

    def choose_pivot(self, first: int, last: int) -> tuple[int, int]:
        """Return the index of the pivot, and whether the sampled elements rise or fall."""
        length = last - first
        swaps = 0
        low, middle, high = first + length // 4, first + length // 4 * 2, first + length // 4 * 3

        def ordered(left: int, right: int) -> tuple[int, int]:
            nonlocal swaps
            if self.less(right, left):
                swaps += 1
                return right, left
            return left, right

        def median(left: int, center: int, right: int) -> int:
            left, center = ordered(left, center)
            center, right = ordered(center, right)
            left, center = ordered(left, center)
            return center

        if length >= _MEDIAN_LENGTH:
            if length >= _NINTHER_LENGTH:
                low = median(low - 1, low, low + 1)
                middle = median(middle - 1, middle, middle + 1)
                high = median(high - 1, high, high + 1)
            middle = median(low, middle, high)
        if swaps == 0:
            return middle, _INCREASING
        return middle, _DECREASING if swaps == _MOST_SWAPS else _UNKNOWN
