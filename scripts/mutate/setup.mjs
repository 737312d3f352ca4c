// A property that fails has shown enough: no smaller example is looked for.
import fc from "fast-check";

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
