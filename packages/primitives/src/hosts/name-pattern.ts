import { canonicalName } from "./host-name.ts";
import { parseIpAddress } from "./ip-address.ts";

/** A host name, or `*.` and a name: all names below it, without the name itself. */
export interface NamePattern {
  /** Lower case, punycode, without `*.` and the final dot. */
  readonly name: string;
  readonly isWild: boolean;
}

const label = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/;

/** Returns `undefined` for addresses, ports, paths and other texts. */
export function readNamePattern(text: string): NamePattern | undefined {
  const isWild = text.startsWith("*.");
  const bare = isWild ? text.slice(2) : text;
  // Characters that end a host in a URL, or that a URL removes or decodes.
  if (/[\s:/?#@\\%*[\]]/.test(bare)) return undefined;
  const name = canonicalName(bare);
  if (name === undefined || parseIpAddress(name) !== undefined) return undefined;
  return name.split(".").every((part) => label.test(part)) ? { name, isWild } : undefined;
}

/** The notation of answers. */
export function patternText({ isWild, name }: NamePattern): string {
  return isWild ? `*.${name}` : name;
}

function covers(pattern: NamePattern, name: string): boolean {
  return pattern.isWild ? name.endsWith(`.${pattern.name}`) : name === pattern.name;
}

/** Whether a host can match both. */
export function overlappingName(one: NamePattern, other: NamePattern): boolean {
  if (one.isWild && other.isWild) return one.name === other.name || covers(one, other.name) || covers(other, one.name);
  return one.isWild ? covers(one, other.name) : covers(other, one.name);
}

/** Finds the pattern of a host: an exact name wins over `*.`, and a longer name over a shorter one. */
export function namePatterns<Value>(
  entries: Iterable<readonly [NamePattern, Value]>,
): (name: string) => Value | undefined {
  const exact = new Map<string, Value>();
  const wild = new Map<string, Value>();
  for (const [{ isWild, name }, value] of entries) (isWild ? wild : exact).set(name, value);
  return (name) => {
    if (exact.has(name)) return exact.get(name);
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      const above = name.slice(dot + 1);
      if (wild.has(above)) return wild.get(above);
    }
    return undefined;
  };
}
