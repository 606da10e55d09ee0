/** The event with the headers that were sent, as far as it tells it from all others. */
export const sentHeadersStart = '{"method":"Network.requestWillBeSentExtr';
const proxyName = '"Proxy-Connection":';
/** As long, so that the header of a frame stays valid. In strings of JSON, the name has other quotes. */
const usualName = '"Connection":'.padEnd(proxyName.length);

/** Names a header of the event as the site gets it: the browser uses the egress gateway as a proxy. Other messages stay as they are. */
export function withoutProxyName(message: Buffer): Buffer {
  if (message.toString("latin1", 0, sentHeadersStart.length) !== sentHeadersStart) return message;
  const at = message.indexOf(proxyName);
  if (at === -1) return message;
  const named = Buffer.from(message);
  named.write(usualName, at, "latin1");
  return named;
}
