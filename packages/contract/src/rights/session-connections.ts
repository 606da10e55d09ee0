import type { JudgedOperation } from "./key-policy.ts";

/** Ways to connect to a session that are not operations of the contract, with their rights. */
export const sessionConnections = {
  "browsers.cdp.connect": connection("/browsers/{id}/cdp", ["read files", "write files", "read code", "write code"]),
  "browsers.webdriver.connect": connection("/browsers/{id}/webdriver", [
    "read files",
    "write files",
    "read code",
    "write code",
  ]),
  "browsers.process.attach": connection("/browsers/{id}/process/{process_id}/attach", ["read code", "write code"]),
  "browsers.liveView.control": connection("/browsers/{id}/live-view/control", [
    "read access_links",
    "write page_content",
  ]),
  "browsers.liveView.watch": connection("/browsers/{id}/live-view/watch", ["read page_content"]),
  /** A stored value that `browsers.act` types. An object's `browsers:use` alone does not include it. */
  "credentials.use": {
    path: "/browsers/{id}/act",
    moves: ["read page_content", "write page_content", "read secrets"],
  },
  "browsers.curl.raw": connection("/browsers/{id}/curl/raw", ["read traffic", "write traffic"]),
} as const satisfies Readonly<Record<string, Omit<JudgedOperation, "operationId">>>;

/** The name of a way to connect to a session. */
export type SessionConnection = keyof typeof sessionConnections;

function connection<const Path extends string>(path: Path, moves: NonNullable<JudgedOperation["moves"]>) {
  return { path, moves, scope: ["browsers:use"] } as const;
}

/** Returns a connection as the operation that a policy judges. */
export function connectionOperation(name: SessionConnection): JudgedOperation {
  return { operationId: name, ...sessionConnections[name] };
}
