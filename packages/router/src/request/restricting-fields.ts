import { pathText, type Problem } from "./issues.ts";

/** Words of names such as `policy`, `expires_at`, `allowed_hosts`, `proxy_routes`, `read_only`, `max_requests`. */
const restrictingWords =
  /(?:^|_)(?:polic(?:y|ies)|scopes?|roles?|permissions?|statements?|expir(?:es|y|ed|ation|e)|ttl|valid|until|allow(?:ed|list)?|whitelist|den(?:y|ied|ylist)|block(?:ed|list)?|blacklist|exclude[ds]?|restrict(?:s|ed|ions?)?|only|readonly|forbid(?:den)?|disallow(?:ed)?|routes?|max|maximum|limits?|quota|isolat(?:e|ed|ion)|sandbox|mask(?:ed)?|redact(?:ed|ion)?|require[ds]?)(?:_|$)/;

/** Whether a field limits something, judged by its name. */
function restricts(name: string): boolean {
  const words = name.slice(0, 200).replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  return restrictingWords.test(words.toLowerCase().replaceAll("-", "_"));
}

/**
 * Returns a problem for each field of a body that the contract does not know and that restricts something: a caller
 * that restricts an object must never get a full one. `null` and `false` restrict nothing.
 */
export function restrictingProblems(
  path: readonly PropertyKey[],
  fields: readonly (readonly [name: string, value: unknown])[],
): Problem[] {
  return fields
    .filter(([name, value]) => value !== null && value !== false && restricts(name))
    .map(([name]) => ({
      path: pathText("body", [...path, name]),
      message: "this service cannot enforce the restriction; leave the field out to go on without it",
    }));
}
