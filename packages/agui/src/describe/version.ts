/** The version of this package; written by the release script, checked by a test. */
export const version = "0.0.0";
