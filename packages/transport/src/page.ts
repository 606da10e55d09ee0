import type { Page, TokenPage } from "@shoal/contract";
import type { Schema } from "@shoal/schemas";
import { checkValue, contractError } from "./answer.ts";
import type { Plan, Settings } from "./plan.ts";

/** One page of a list. `for await` over it gives its items and then those of all further pages, which are fetched as they are needed. */
export class ItemPage<Item> implements Page<Item>, TokenPage<Item>, AsyncIterable<Item> {
  /** Of this page alone. */
  readonly items: Item[];
  /** Whether another page follows. */
  readonly hasMore: boolean;
  /** The `offset` of the next page; `undefined` on the last one, and in lists that are paged by tokens. */
  readonly nextOffset: number | undefined;
  /** The `page_token` of the next page, in lists that are paged by tokens; `undefined` on the last one. */
  readonly nextPageToken: string | undefined;
  readonly #fetchNext: (() => Promise<ItemPage<Item>>) | undefined;

  /** @internal */
  constructor(
    items: Item[],
    next: Partial<Pick<ItemPage<Item>, "nextOffset" | "nextPageToken">>,
    fetchNext: (() => Promise<ItemPage<Item>>) | undefined,
  ) {
    this.items = items;
    this.hasMore = fetchNext !== undefined;
    this.nextOffset = next.nextOffset;
    this.nextPageToken = next.nextPageToken;
    this.#fetchNext = fetchNext;
  }

  /** Fetches the page after this one; `undefined` when this is the last. */
  async nextPage(): Promise<ItemPage<Item> | undefined> {
    return this.#fetchNext?.();
  }

  /** The items of this page and of all that follow, each page fetched when it is needed. @throws what fetching the next page does. */
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
export function pageOf(
  settings: Settings,
  plan: Plan,
  response: Response,
  page: { item: Schema; value: unknown; offset: number; fetch(offset: number): Promise<ItemPage<unknown>> },
): ItemPage<unknown> {
  const { offset } = page;
  const items = itemsOf(settings, plan, response, page);
  const { next, wrong } = nextOffsetIn(response.headers, offset, items.length);
  if (wrong !== undefined)
    throw contractError(plan, response, "headers.x-next-offset", `expected a number above the page's own offset, got ${wrong}`);
  return new ItemPage(items, { nextOffset: next }, next === undefined ? undefined : () => page.fetch(next));
}

/**
 * Checks an answer and makes it a page of a list that is paged by tokens.
 *
 * @param page - `value`: the body; `item`: schema of one item; `token`: that of the page itself; `fetch`: gets the page of another one.
 * @throws {ContractError} for what is no list, and for headers that lead to no further page, or to this one again: it would be fetched for ever.
 */
export function tokenPageOf(
  settings: Settings,
  plan: Plan,
  response: Response,
  page: { item: Schema; value: unknown; token: string | undefined; fetch(token: string): Promise<ItemPage<unknown>> },
): ItemPage<unknown> {
  const items = itemsOf(settings, plan, response, page);
  const { headers } = response;
  const more = headers.get("x-has-more");
  const next = headers.get("x-next-page-token") ?? "";
  if ((more !== null && more !== "true") || (more === null && next === "")) return new ItemPage(items, {}, undefined);
  if (next === "" || next === page.token)
    throw contractError(
      plan,
      response,
      "headers.x-next-page-token",
      `expected the token of a further page, got ${next === "" ? "nothing" : "that of this page"}`,
    );
  return new ItemPage(items, { nextPageToken: next }, () => page.fetch(next));
}

function itemsOf(settings: Settings, plan: Plan, response: Response, { item, value }: { item: Schema; value: unknown }): unknown[] {
  if (!Array.isArray(value)) throw contractError(plan, response, "body", "expected an array");
  const items: unknown[] = value;
  for (const [index, entry] of items.entries()) checkValue(settings, plan, response, { schema: item, value: entry, at: `body[${index}]` });
  return items;
}

/** The offset of the next page, as the answer's headers tell it; `wrong` is the text of a header that makes no sense. */
function nextOffsetIn(headers: Headers, offset: number, count: number): { readonly next?: number; readonly wrong?: string } {
  const more = headers.get("x-has-more");
  const next = headers.get("x-next-offset");
  if ((more !== null && more !== "true") || (more === null && next === null) || next === "0") return {};
  const value = next !== null && /^\d{1,15}$/.test(next) ? Number(next) : undefined;
  const isFurther = value !== undefined && value > offset;
  // A filter may leave nothing of a page whose list goes on; where that is not said clearly, an empty page is the last.
  if (count === 0 && !(more === "true" && isFurther)) return {};
  return isFurther ? { next: value } : { wrong: next ?? "nothing" };
}
