/** A request with the token of a session, as the client sends it to the session's `base_url`. */
export interface DirectRequest {
  readonly sessionId: string;
  readonly token: string;
  /** The same request to the service. */
  readonly url: string;
}

/** Reads `/sessions/k3f9/fs/read_file?path=%2Fa&jwt=…`. */
export function directRequest(url: string): DirectRequest | undefined {
  const [, sessionId, rest] = /^\/sessions\/([^/?]+)(\/.*)$/.exec(url) ?? [];
  if (sessionId === undefined || rest === undefined) return undefined;
  const [path = "", query = ""] = rest.split("?", 2);
  const pairs = query.split("&");
  const token = pairs.find((pair) => pair.startsWith("jwt="))?.slice(4) ?? "";
  const others = pairs.filter((pair) => pair !== "" && !pair.startsWith("jwt="));
  return { sessionId, token, url: `/browsers/${sessionId}${path}${others.length > 0 ? `?${others.join("&")}` : ""}` };
}
