/** How a box that scrolls has moved since it was last looked at; all in pixels. */
export interface Move {
  readonly lastTop: number;
  readonly top: number;
  /** The largest `top` that the box can have now. */
  readonly end: number;
  /** The `top` from which on a reader who scrolls down is at the end. */
  readonly near: number;
}

/**
 * True when a reader wants to follow the end of the box, false when they left it, undefined when the move
 * shows neither. A box that shrinks moves up, too, but only to its end.
 */
export function followWish({ lastTop, top, end, near }: Move): boolean | undefined {
  if (top < lastTop) return top >= end - 1;
  return top > lastTop && top >= near ? true : undefined;
}

/** The largest `scrollTop` that a box can have. */
export function endOf({ scrollHeight, clientHeight }: HTMLElement): number {
  return scrollHeight - clientHeight;
}
