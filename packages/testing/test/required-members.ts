/** A type without its optional members. */
export type RequiredMembers<T> = {
  [K in keyof T as object extends Pick<T, K> ? never : K]: T[K];
};
