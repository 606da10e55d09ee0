import { pathText } from "./issues.ts";
import { nearMatch } from "./near-match.ts";

/** Response header that lists the ignored fields and parameters of the request. */
export const ignoredFieldsHeader = "x-shoal-ignored-fields";

const maxListed = 10;
const maxNameLength = 80;
/** Shorter names are too alike. */
const minLikenessLength = 3;

export interface UnknownKeys {
  /** `body`, `query`. */
  readonly root: string;
  readonly path: readonly PropertyKey[];
  readonly keys: readonly string[];
  readonly known: readonly string[];
}

/** Clients choose the names, so the text is bounded and printable ASCII. */
export class IgnoredFields {
  readonly #listed: string[] = [];
  #count = 0;

  add({ keys, known, path, root }: UnknownKeys): void {
    this.#count += keys.length;
    for (const key of keys.slice(0, maxListed - this.#listed.length)) {
      const meant = key.length < minLikenessLength || key.length > maxNameLength ? undefined : nearMatch(key, known);
      this.#listed.push(
        `${shortened(pathText(root, [...path, key]))}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`,
      );
    }
  }

  /** `body.browser, body.timeout_second (did you mean timeout_seconds?)`; `undefined` when nothing was ignored. */
  toHeader(): string | undefined {
    if (this.#count === 0) return undefined;
    const rest = this.#count - this.#listed.length;
    return [...this.#listed, ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
  }
}

function shortened(path: string): string {
  const ascii = path.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return ascii.length > maxNameLength ? `${ascii.slice(0, maxNameLength)}...` : ascii;
}
