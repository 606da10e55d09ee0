import type { Page } from "@shoal/contract";

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
 * The offset of the next page, as the answer's headers tell it; `undefined` after the last one.
 *
 * @returns the text of a header that makes no sense as `wrong`: a next page that is not further on would be fetched for ever.
 */
export function nextOffsetIn(headers: Headers, offset: number, count: number): { readonly next?: number; readonly wrong?: string } {
  const more = headers.get("x-has-more");
  const next = headers.get("x-next-offset");
  if (count === 0 || (more !== null && more !== "true") || (more === null && next === null) || next === "0") return {};
  const value = next !== null && /^\d{1,15}$/.test(next) ? Number(next) : undefined;
  return value !== undefined && value > offset ? { next: value } : { wrong: next ?? "nothing" };
}
