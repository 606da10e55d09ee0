import { messageOf } from "@shoal/primitives";
import type { FastifyInstance } from "fastify";
import { once } from "node:events";
import { BlockList, createServer, isIP } from "node:net";
import { StartError } from "../config/start-error.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Names other than `localhost` count as reachable from other machines. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host.toLowerCase() === "localhost" : loopback.check(host, version === 4 ? "ipv4" : "ipv6");
}

/** Replaces an address for every interface by loopback. */
export function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${String(port)}`;
}

/** Texts for the addresses of a service, by the flag of their port. */
const places = {
  "--port": { before: "", host: "--host" },
  "--metrics-port": { before: "Cannot open the metrics port. ", host: "--metrics-host" },
} as const;

export function explainListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  flag: keyof typeof places,
): StartError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const where = `${host}:${String(port)}`;
  const { before, host: hostFlag } = places[flag];
  const refusal = (reason: string, hint: string) => new StartError(`${before}${reason}`, { hint, cause: error });
  switch (code) {
    case "EADDRINUSE":
      return refusal(
        `Port ${String(port)} of ${host} is in use by another program.`,
        `Stop that program, choose another port with ${flag}, or let the system choose with ${flag} 0.`,
      );
    case "EACCES":
      return refusal(`This user may not listen on ${where}.`, `Choose a port of 1024 or above with ${flag}.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return refusal(
        `${host} is not an address of this machine.`,
        `Give one of its addresses with ${hostFlag}: 127.0.0.1 for this machine alone, 0.0.0.0 for all its networks.`,
      );
    default:
      return refusal(
        `The service cannot listen on ${where}: ${messageOf(error)}.`,
        `Choose another address with ${hostFlag} and ${flag}.`,
      );
  }
}

/** @returns the URL. @throws {StartError} */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw explainListenError(error, { host, port }, "--port");
  }
  const address = app.server.address();
  return urlOf(host, typeof address === "object" && address !== null ? address.port : port);
}

/** Fails fast for a port in use, before slow parts of the start. @throws {StartError} */
export async function tryAddress(host: string, port: number, flag: keyof typeof places = "--port"): Promise<void> {
  if (port === 0) return;
  const trial = createServer();
  try {
    trial.listen({ host, port });
    await once(trial, "listening");
  } catch (error) {
    throw explainListenError(error, { host, port }, flag);
  } finally {
    trial.close();
  }
}
