import { posix } from "node:path";
import { UsageError } from "../../core/errors.ts";

const home = "/home/shoal";

export type Place =
  | { readonly kind: "local"; readonly path: string }
  | { readonly kind: "standard" }
  /** An empty session is the current one. The path is absolute and may end with a slash. */
  | { readonly kind: "remote"; readonly session: string; readonly path: string };

/**
 * Reads `SESSION:PATH`, `:PATH`, `-` or a local path. A colon after a slash belongs to a local path: `./a:b`.
 * @throws {UsageError}
 */
export function placeOf(text: string, platform: NodeJS.Platform = process.platform): Place {
  if (text === "-") return { kind: "standard" };
  if (text === "") throw new UsageError("A path is empty.");
  const colon = text.indexOf(":");
  const slash = text.search(platform === "win32" ? /[/\\]/ : /\//);
  const isDrive = platform === "win32" && colon === 1;
  if (colon < 0 || isDrive || (slash >= 0 && slash < colon)) return { kind: "local", path: text };
  const session = text.slice(0, colon);
  if (!/^[\w.-]{0,255}$/.test(session))
    throw new UsageError(`"${session}" is not a session. Write ./${text} for a local file.`);
  return { kind: "remote", session, path: remotePath(text.slice(colon + 1)) };
}

function remotePath(typed: string): string {
  const path = typed.replace(/^~(?=\/|$)/, home);
  return posix.normalize(posix.isAbsolute(path) ? path : posix.join(home, path));
}

export function filesText(count: number): string {
  return count === 1 ? "1 file" : `${String(count)} files`;
}
