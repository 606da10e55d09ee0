import type { Page } from "@shoal/contract";
import type { Schema } from "@shoal/schemas";
import { checkValue, contractError } from "./answer.ts";
import type { Plan, Settings } from "./plan.ts";

/** One page of a list. `for await` over it gives its items and then those of all further pages, which are fetched as they are needed. */
export class ItemPage<Item> implements Page<Item>, AsyncIterable<Item> {
  readonly items: Item[];
  readonly hasMore: boolean;
  readonly nextOffset: number | undefined;
  readonly #fetch: (offset: number) => Promise<ItemPage<Item>>;

  /** @internal */
  constructor(page: Page<Item>, fetch: (offset: number) => Promise<ItemPage<Item>>) {
    this.items = page.items;
    this.hasMore = page.hasMore;
    this.nextOffset = page.nextOffset;
    this.#fetch = fetch;
  }

  /** Fetches the page after this one; `undefined` when this is the last. */
  async nextPage(): Promise<ItemPage<Item> | undefined> {
    return this.nextOffset === undefined ? undefined : this.#fetch(this.nextOffset);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    yield* this.items;
    for (let page = await this.nextPage(); page !== undefined; page = await page.nextPage()) yield* page.items;
    return undefined;
  }
}

/**
 * Checks an answer and makes it a page.
 *
 * @param page - `value`: the body; `item`: schema of one item; `offset`: where the page begins; `fetch`: gets the page that begins elsewhere.
 * @throws {ContractError} for what is no list, and for headers that tell of a next page that is not further on: it would be fetched for ever.
 */
export function pageOf(settings: Settings, plan: Plan, response: Response, page: { item: Schema; value: unknown; offset: number; fetch(offset: number): Promise<ItemPage<unknown>> }): ItemPage<unknown> {
  const { item, value, offset } = page;
  if (!Array.isArray(value)) throw contractError(plan, response, "body", "expected an array");
  const items: unknown[] = value;
  for (const [index, entry] of items.entries()) checkValue(settings, plan, response, { schema: item, value: entry, at: `body[${index}]` });
  const { next, wrong } = nextOffsetIn(response.headers, offset, items.length);
  if (wrong !== undefined) throw contractError(plan, response, "headers.x-next-offset", `expected a number above the page's own offset, got ${wrong}`);
  return new ItemPage({ items, hasMore: next !== undefined, nextOffset: next }, (from) => page.fetch(from));
}

/** The offset of the next page, as the answer's headers tell it; `wrong` is the text of a header that makes no sense. */
function nextOffsetIn(headers: Headers, offset: number, count: number): { readonly next?: number; readonly wrong?: string } {
  const more = headers.get("x-has-more");
  const next = headers.get("x-next-offset");
  if (count === 0 || (more !== null && more !== "true") || (more === null && next === null) || next === "0") return {};
  const value = next !== null && /^\d{1,15}$/.test(next) ? Number(next) : undefined;
  return value !== undefined && value > offset ? { next: value } : { wrong: next ?? "nothing" };
}
