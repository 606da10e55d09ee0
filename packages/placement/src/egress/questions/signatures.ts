import { isAmongHosts } from "@shoal/instance";
import type { ServerResponse } from "node:http";
import type { RequestSigner } from "../../interface/egress.ts";

/** For the instance: `GET /signature?url=ORIGIN` answers a list of headers, empty for hosts that are not signed. */
export const signaturePath = "/signature?";

/** Longest host of a signature, in characters. */
const maxHostCharacters = 255;

/** Never rejects. */
export async function answerSignature(
  signer: RequestSigner | undefined,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const headers = await signatureOf(signer, path).catch(() => ({}));
  const entries = Object.entries(headers).map(([name, value]) => ({ name, value }));
  response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(entries));
}

async function signatureOf(signer: RequestSigner | undefined, path: string): Promise<Readonly<Record<string, string>>> {
  const url = URL.parse(new URLSearchParams(path.slice(signaturePath.length)).get("url") ?? "");
  if (signer === undefined || url === null || !/^https?:$/.test(url.protocol)) return {};
  if (url.host.length > maxHostCharacters) return {};
  const isWanted = signer.hosts.length === 0 || isAmongHosts(url.hostname, signer.hosts);
  return isWanted ? signer.sign(url.origin) : {};
}
