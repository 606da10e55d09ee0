import type { Page, TokenPage } from "@shoal/contract/endpoint";
import type { Schema } from "@shoal/schemas";
import { contractError } from "../exchange/failures.ts";
import { checkValue } from "./answer.ts";
import type { Plan, Settings } from "../request/plan.ts";

/** One page of a list. `for await` iterates over its items and those of all further pages, which are fetched on demand. */
export class ItemPage<Item> implements Page<Item>, TokenPage<Item>, AsyncIterable<Item> {
  readonly items: Item[];
  /** True when another page follows. */
  readonly hasMore: boolean;
  /** The `offset` of the next page; `undefined` on the last page and in lists with page tokens. */
  readonly nextOffset: number | undefined;
  /** The `page_token` of the next page in lists with page tokens; `undefined` on the last page. */
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

  /** Fetches the next page; `undefined` after the last one. */
  async nextPage(): Promise<ItemPage<Item> | undefined> {
    return this.#fetchNext?.();
  }

  /** Iterates over the items of this page and of all following ones. @throws the errors of {@link ItemPage.nextPage}. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined> {
    yield* this.items;
    for (let page = await this.nextPage(); page !== undefined; page = await page.nextPage()) yield* page.items;
    return undefined;
  }
}

/**
 * @param page - `value`: the body; `item`: schema of an item; `offset`: start of the page; `fetch`: fetches the page at
 * another offset.
 * @throws {ContractError} when the body is not a list, or the next offset is not greater, which would loop forever.
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
    throw contractError(
      plan,
      response,
      "headers.x-next-offset",
      `expected a number above the page's own offset, got ${wrong}`,
    );
  return new ItemPage(items, { nextOffset: next }, next === undefined ? undefined : () => page.fetch(next));
}

/**
 * @param page - `value`: the body; `item`: schema of an item; `token`: token of this page; `fetch`: fetches the page of
 * another token.
 * @throws {ContractError} when the body is not a list, or the next token is missing or the same, which would loop
 * forever.
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

function itemsOf(
  settings: Settings,
  plan: Plan,
  response: Response,
  { item, value }: { item: Schema; value: unknown },
): unknown[] {
  if (!Array.isArray(value)) throw contractError(plan, response, "body", "expected an array");
  const items: unknown[] = value;
  for (const [index, entry] of items.entries())
    checkValue(settings, plan, response, { schema: item, value: entry, at: `body[${index}]` });
  return items;
}

/** Reads the offset of the next page from the headers; `wrong` is the text of an invalid header. */
function nextOffsetIn(
  headers: Headers,
  offset: number,
  count: number,
): { readonly next?: number; readonly wrong?: string } {
  const more = headers.get("x-has-more");
  const next = headers.get("x-next-offset");
  if ((more !== null && more !== "true") || (more === null && next === null) || next === "0") return {};
  const value = next !== null && /^\d{1,15}$/.test(next) ? Number(next) : undefined;
  const isFurther = value !== undefined && value > offset;
  // A filter may empty a page in the middle of a list. Without a valid next offset an empty page is the last one.
  if (count === 0 && !(more === "true" && isFurther)) return {};
  return isFurther ? { next: value } : { wrong: next ?? "nothing" };
}
