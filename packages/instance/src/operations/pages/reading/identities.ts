import type { PageItemElement } from "./page-items.ts";

type Described = Pick<PageItemElement, "name" | "path" | "role" | "url">;

/**
 * Returns the role, name and path of each element that is the only one with them: it has them again after the page
 * renders it again. Equal elements get nothing: the text around them may belong to another row.
 */
export function identitiesOf<E extends Described>(elements: readonly E[]): ReadonlyMap<E, string> {
  const identities = new Map<E, string>();
  for (const [signature, [first, ...others]] of Map.groupBy(elements, signatureOf))
    if (first !== undefined && others.length === 0) identities.set(first, signature);
  return identities;
}

function signatureOf({ name, path, role, url }: Described): string {
  return JSON.stringify([role, name, path, url]);
}
