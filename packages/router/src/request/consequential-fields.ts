import { maxProblems, pathText, type Problem } from "./issues.ts";
import { nearMatch } from "./near-match.ts";
import type { RemovedKeys } from "./unknown-keys.ts";

/** Longer names are not compared with others. */
const maxNameLength = 80;

/** Words of names such as `policy`, `expires_at`, `allowed_hosts`, `proxy_routes`, `read_only`, `max_requests`. */
const restrictingWords =
  /(?:^|_)(?:polic(?:y|ies)|scopes?|roles?|permissions?|statements?|expir(?:es|y|ed|ation|e)|ttl|valid|until|allow(?:ed|list)?|whitelist|den(?:y|ied|ylist)|block(?:ed|list)?|blacklist|exclude[ds]?|restrict(?:s|ed|ions?)?|only|readonly|forbid(?:den)?|disallow(?:ed)?|routes?|max|maximum|limits?|quota|isolat(?:e|ed|ion)|sandbox|mask(?:ed)?|redact(?:ed|ion)?|require[ds]?)(?:_|$)/;

/** Words of names such as `network`, `proxy_id`, `profile`, `isolation`: of traffic, identity and secrets. */
const directingWords =
  /(?:^|_)(?:networks?|prox(?:y|ies)|egress|dns|isolation|profiles?|identit(?:y|ies)|credentials?|secrets?|passwords?|vaults?|certificates?)(?:_|$)/;

function wordsOf(name: string): string {
  const words = name.slice(0, 200).replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  return words.toLowerCase().replaceAll("-", "_");
}

/** Whether a field limits something, judged by its name. */
const restricts = (name: string): boolean => restrictingWords.test(wordsOf(name));
/** Whether a field decides where traffic, identity or secrets go, judged by its name. */
const directs = (name: PropertyKey): boolean => typeof name === "string" && directingWords.test(wordsOf(name));

/**
 * Returns a problem for each field of a body that the contract does not know and that restricts something, or decides
 * where traffic, identity or secrets go: a caller must never get less protection than it requires. `null` and `false`
 * require nothing.
 */
export function consequentialProblems({ fields, known, path }: RemovedKeys): Problem[] {
  const isDirecting = path.some(directs);
  const problems: Problem[] = [];
  for (const [name, value] of fields) {
    if (problems.length === maxProblems) break;
    const why = reasonOf(name, value, isDirecting);
    if (why === undefined) continue;
    const meant = name.length > maxNameLength ? undefined : nearMatch(name, known);
    const hint = meant === undefined ? "leave the field out to go on without it" : `did you mean ${meant}?`;
    problems.push({ path: pathText("body", [...path, name]), message: `${why}; ${hint}` });
  }
  return problems;
}

function reasonOf(name: string, value: unknown, isDirecting: boolean): string | undefined {
  if (value === null || value === false) return undefined;
  if (restricts(name)) return "this service cannot enforce the restriction";
  if (!isDirecting && !directs(name)) return undefined;
  return "this service does not know the field, which may decide where traffic, identity or secrets go";
}
