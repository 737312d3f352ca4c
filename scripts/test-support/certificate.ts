import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { findService } from "./services.ts";

/** The paths of a certificate and its key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for localhost that is its own authority. Returns undefined when there is no `openssl`. */
export function makeCertificate(dir: string, suite: string): Certificate | undefined {
  const [cert, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", key, "-out", cert];
  const make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const openssl = findService("openssl", suite);
  if (openssl === undefined) return undefined;
  execFileSync(openssl, [...make, ...subject, ...files], { stdio: "ignore" });
  return { cert, key };
}
