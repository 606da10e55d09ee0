import type { IncomingMessage } from "node:http";
import { noteTwoKeys } from "../../http/auth/connect-address.ts";
import type { Dialect } from "./dialect.ts";

type Head = Pick<IncomingMessage, "headers" | "url">;

/**
 * Moves the key of a dialect's header to `Authorization`, so that logs and other servers see one kind of key, and removes
 * keys for further services. @param path - of the operation. @returns the path with the prefix of the dialect.
 */
export function enterDialect(dialects: readonly Dialect[], request: Head, path: string): string {
  const { headers } = request;
  for (const dialect of dialects) {
    const { foreignSecrets, name, nativePath, noProject, projectHeader, rewritePath } = dialect;
    const inside = pathInside(dialect, headers, path);
    if (inside === undefined) continue;
    for (const secret of foreignSecrets) Reflect.deleteProperty(headers, secret);
    moveKey(dialect, request);
    const project = projectHeader && headers[projectHeader];
    if (typeof project === "string" && project !== "" && project !== noProject) headers["x-shoal-project"] ??= project;
    if (nativePath !== undefined && path.startsWith(`/${name}${nativePath}`)) return inside;
    return `/${name}${rewritePath?.(inside) ?? inside}`;
  }
  return path;
}

/** @returns the path without the prefix; `undefined` if it is not of this dialect. */
function pathInside(
  { keyHeader, name, ownPaths, rootPath }: Dialect,
  headers: Head["headers"],
  path: string,
): string | undefined {
  if (path === `/${name}` || path.startsWith(`/${name}/`) || path.startsWith(`/${name}?`))
    return path.slice(name.length + 1);
  const isAtRoot = rootPath !== undefined && keyHeader !== undefined && path.startsWith(rootPath);
  return isAtRoot && headers[keyHeader] !== undefined ? path : ownPaths?.exec(path)?.[1];
}

function moveKey({ keyHeader }: Dialect, request: Head): void {
  if (keyHeader === undefined) return;
  const { headers } = request;
  const key = headers[keyHeader];
  Reflect.deleteProperty(headers, keyHeader);
  if (typeof key !== "string") return;
  const given = `Bearer ${key.trim()}`;
  if (headers.authorization !== undefined && headers.authorization !== given) noteTwoKeys(request);
  headers.authorization = given;
}

/** The dialect whose path this is, and the path inside: for commands, the path below the session. */
export function dialectOf(
  dialects: readonly Dialect[],
  path: string,
): { readonly dialect: Dialect; readonly inside: string } | undefined {
  const [, name = "", inside = ""] = /^\/([^/?]*)([^?]*)/.exec(path) ?? [];
  const [, below = ""] = /^\/browsers\/[^/?]+(\/[^?]*)/.exec(path) ?? [];
  for (const dialect of dialects) {
    if (dialect.name === name) return { dialect, inside };
    const commands = dialect.commands?.path;
    if (commands !== undefined && (below === commands || below.startsWith(`${commands}/`)))
      return { dialect, inside: below };
  }
  return undefined;
}
