import type { IncomingMessage } from "node:http";
import { noteTwoKeys } from "../../http/auth/connect-address.ts";
import type { Dialect } from "./dialect.ts";

/** Of WebDriver, without a session that exists. */
const ofWebDriver = /^(?:\/wd\/hub(?=[/?]|$)|(?=\/(?:session|status)(?:[/?]|$)))(.*)$/s;

type Head = Pick<IncomingMessage, "headers" | "url">;

/**
 * Moves the key of a dialect's header to `Authorization`, so that logs and other servers see one kind of key, and removes
 * keys for further services. @param path - of the operation. @returns the path with the prefix of the dialect.
 */
export function enterDialect(dialects: readonly Dialect[], request: Head, path: string): string {
  const [, command] = ofWebDriver.exec(path) ?? [];
  if (command !== undefined) return `/webdriver${command}`;
  const { headers } = request;
  for (const { foreignSecrets, keyHeader, name, nativePath, projectHeader, rewritePath, rootPath } of dialects) {
    const isInside = path === `/${name}` || path.startsWith(`/${name}/`) || path.startsWith(`/${name}?`);
    const isAtRoot = path.startsWith(rootPath) && headers[keyHeader] !== undefined;
    if (!isInside && !isAtRoot) continue;
    for (const secret of foreignSecrets) Reflect.deleteProperty(headers, secret);
    const key = headers[keyHeader];
    Reflect.deleteProperty(headers, keyHeader);
    const project = headers[projectHeader];
    if (typeof project === "string" && project !== "") headers["x-shoal-project"] ??= project;
    if (typeof key === "string") {
      const given = `Bearer ${key.trim()}`;
      if (headers.authorization !== undefined && headers.authorization !== given) noteTwoKeys(request);
      headers.authorization = given;
    }
    if (nativePath !== undefined && path.startsWith(`/${name}${nativePath}`)) return path.slice(name.length + 1);
    const inside = isInside ? path.slice(name.length + 1) : path;
    return `/${name}${rewritePath?.(inside) ?? inside}`;
  }
  return path;
}

/** The dialect whose path this is, and the path inside. */
export function dialectOf(
  dialects: readonly Dialect[],
  path: string,
): { readonly dialect: Dialect; readonly inside: string } | undefined {
  const [, name = "", inside = ""] = /^\/([^/?]*)([^?]*)/.exec(path) ?? [];
  const dialect = dialects.find((each) => each.name === name);
  return dialect && { dialect, inside };
}
