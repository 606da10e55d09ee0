/** Elements that one way to find the element returns, by their keys. */
export interface Evidence {
  readonly by: string;
  readonly keys: readonly string[];
}

export type Decision =
  | { readonly kind: "one"; readonly key: string; readonly by: string }
  | { readonly kind: "not_found" }
  | { readonly kind: "ambiguous" | "unsure"; readonly keys: readonly string[] };

/**
 * Chooses the element of a step. The role and the name decide if they match one element. Otherwise only ways count that match
 * one element, and they must agree. Where a wrong element would do harm, one way alone is not enough if the step has several.
 * @param named - elements with the role and the name; `undefined` if the step has no name.
 */
export function decideElement(
  named: readonly string[] | undefined,
  fallbacks: readonly Evidence[],
  isGuarded: boolean,
): Decision {
  const [first, ...others] = named ?? [];
  if (first !== undefined && others.length === 0) return { kind: "one", key: first, by: "name" };
  const isNamed = first !== undefined;
  // Among elements of the same name, a fallback chooses; it does not lead away from them.
  const ways = fallbacks
    .map(({ by, keys }) => ({ by, keys: isNamed ? keys.filter((key) => named?.includes(key)) : keys }))
    .filter(({ keys }) => keys.length > 0);
  const decisive = ways.filter(({ keys }) => keys.length === 1);
  const chosen = new Set(decisive.flatMap(({ keys }) => keys));
  const [key, ...contradicting] = chosen;
  if (key === undefined) {
    const several = isNamed ? (named ?? []) : (ways[0]?.keys ?? []);
    return several.length === 0 ? { kind: "not_found" } : { kind: "ambiguous", keys: several };
  }
  // A way that matches several elements must include the chosen one.
  const isContradicted = contradicting.length > 0 || ways.some(({ keys }) => !keys.includes(key));
  if (isContradicted) return { kind: "ambiguous", keys: [...chosen] };
  const needed = isGuarded && !isNamed ? Math.min(2, named === undefined ? waysOf(fallbacks) : 2) : 1;
  if (waysOf(decisive) < needed) return { kind: "unsure", keys: [key] };
  return { kind: "one", key, by: `${isNamed ? "name+" : ""}${decisive.map(({ by }) => by).join("+")}` };
}

/** Selectors and test ids are one way: they may be two spellings of one attribute. */
function waysOf(evidence: readonly Evidence[]): number {
  return new Set(evidence.map(({ by }) => (by === "test_id" ? "css" : by))).size;
}
