export interface KnownFailure {
  /** Replaces the runtime's, which is hard to read. */
  readonly reason?: string;
  /** The next step. */
  readonly hint?: string;
}

/** By the code of the innermost error. */
const knownFailures: Readonly<Record<string, KnownFailure>> = {
  ECONNREFUSED: { hint: "Start the service with `shoal serve`, or set baseUrl to the address of a running one." },
  ENOTFOUND: { hint: "Check the host name of baseUrl." },
  ERR_SSL_WRONG_VERSION_NUMBER: { reason: "it answers without TLS", hint: "Use http:// in baseUrl." },
  DEPTH_ZERO_SELF_SIGNED_CERT: { hint: "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority." },
  SELF_SIGNED_CERT_IN_CHAIN: { hint: "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority." },
};

export function knownFailure(error: unknown): KnownFailure | undefined {
  let known: KnownFailure | undefined;
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && typeof at.code === "string") known = knownFailures[at.code] ?? known;
  return known;
}
