/** Application protocols of TLS connections from the service to an instance on another machine. */
export const remoteProtocols = {
  /** HTTP/1.1 of the instance plane, with upgrades. */
  instance: "shoal-instance/1",
  /** HTTP/2 in the other direction: each connection to the egress gateway is a CONNECT request of the instance. */
  egress: "shoal-egress/1",
} as const;
