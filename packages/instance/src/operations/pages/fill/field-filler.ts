import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { FilledFields, FillFields, OnlyPage } from "../../../protocol/fill-fields.ts";
import { isAmongOrigins } from "../../../protocol/page.ts";
import { secretOnOtherSite } from "../act/act-errors.ts";
import { ActRun, Interrupted } from "../act/act-run.ts";
import { Actionable } from "../act/element/actionable.ts";
import { pickFieldFunction } from "../act/element/field-functions.ts";
import { findBySelector } from "../act/element/find-by-selector.ts";
import type { PageActor } from "../act/page-actor.ts";
import type { NodeAddress } from "../follow/followed-page.ts";
import { dialogOpen, pageNotResponding } from "../tabs/page-errors.ts";
import { keyOf } from "../tabs/references.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";

type Field = FillFields["fields"][number] & Pick<FillFields, "credential" | "origins" | "sites">;
type Result = FilledFields["fields"][number];
type ErrorCode = NonNullable<Result["error_code"]>;

interface Tab {
  readonly id: string;
  readonly url: string;
}

const lookMs = 10_000;
const fillMs = 5_000;

/** Runs in the isolated world of the document. Fields for other than text, and shorter than the value, take no value. */
const stateFunction = `function (length) {
  const isText = this.localName === "input" && !/^(?:button|submit|reset|image|hidden|checkbox|radio|file|range|color)$/.test(this.type);
  return [self.origin, isText && (this.maxLength < 0 || this.maxLength >= length)];
}`;

/** Of errors before the value went to the page. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ambiguous_target: "ambiguous_selector",
  bad_request: "execution_failed",
  dialog_open: "execution_failed",
  element_not_found: "element_not_found",
  forbidden: "target_changed",
  not_actionable: "element_not_editable",
  not_found: "target_changed",
  page_not_responding: "timeout",
  stale_reference: "target_changed",
};

/** Fills several fields of a page with stored values. Each value has the checks of `browsers.act`. */
export class FieldFiller {
  readonly #actor: Pick<PageActor, "act">;
  readonly #pages: SessionPages;

  constructor(parts: { readonly actor: Pick<PageActor, "act">; readonly pages: SessionPages }) {
    this.#actor = parts.actor;
    this.#pages = parts.pages;
  }

  /** @throws {ServiceError} 400 for an invalid selector, 403 for a field on another site, 409 for another page. */
  async fill({ fields: given, page_url: address, ...place }: FillFields, signal: AbortSignal): Promise<FilledFields> {
    const fields = given.map((field) => ({ ...field, ...place }));
    const tab = await this.#tabAt(address);
    const found = await this.#examine(tab, fields, signal);
    if ("code" in found) return resultsOf(fields, { at: found.at, filled: 0, result: failed(found.code) });
    for (const [at, field] of fields.entries()) {
      const only = found.elements[at];
      const result =
        only !== undefined && (await this.#isAt(tab))
          ? await this.#fillOne(tab, { ...field, only }, signal)
          : failed("target_changed");
      if (result.status !== "filled") return resultsOf(fields, { at, filled: at, result });
    }
    return { fields: fields.map(() => ({ status: "filled" })) };
  }

  async onlyPage(): Promise<OnlyPage> {
    const tabs = await this.#pages.tabs();
    const [only] = tabs;
    return { pages: tabs.length, ...(tabs.length === 1 && only && { url: only.url }) };
  }

  async #tabAt(address: string | undefined): Promise<Tab> {
    const tabs = await this.#pages.tabs();
    const found = address === undefined ? tabs : tabs.filter(({ url }) => url === address);
    const [tab] = found;
    if (tab !== undefined && found.length === 1) return tab;
    const problem =
      address === undefined
        ? `the browser has ${String(tabs.length)} pages`
        : `${found.length === 0 ? "no page" : "more than one page"} of the browser has this address`;
    throw new ServiceError(409, "conflict", problem, {
      field: "body.page_url",
      hint: "Send the exact address of one page, with its query and fragment: tabs of browsers.observe has it.",
    });
  }

  /** A page may change its fragment while it is filled. */
  async #isAt({ id, url }: Tab): Promise<boolean> {
    const now = (await this.#pages.tabs()).find((one) => one.id === id)?.url;
    return now !== undefined && now.split("#", 1)[0] === url.split("#", 1)[0];
  }

  /** Looks at every field before the first one is filled. Returns their elements, or the first that cannot be filled. */
  async #examine({ id }: Tab, fields: readonly Field[], signal: AbortSignal) {
    const tab = await this.#pages.tab(id);
    const run = new ActRun(tab.page, { signal, timeoutMs: lookMs });
    try {
      return await this.#examineAll(tab, fields, run);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      const { dialog } = tab.page.session;
      // Without its message: the page may show a value in it, and short values cannot be replaced.
      if (dialog !== undefined) throw ServiceError.of(dialogOpen(id, { type: dialog.type }));
      if (error.kind === "gone") throw tab.page.session.endError();
      throw ServiceError.of(pageNotResponding(id, "does not answer: a script keeps it busy"));
    }
  }

  async #examineAll(tab: OpenTab, fields: readonly Field[], run: ActRun) {
    const elements: NodeAddress[] = [];
    const known = new Set<string>();
    let refused: { readonly at: number; readonly code: ErrorCode } | undefined;
    for (const [at, field] of fields.entries()) {
      const found = await this.#examineOne(tab, run, { ...field, path: `body.fields[${String(at)}]` });
      if (typeof found === "string") {
        refused ??= { at, code: found };
        continue;
      }
      if (known.has(keyOf(found)))
        throw ServiceError.of(
          invalid(`body.fields[${String(at)}].selector`, "names the element of another field", {
            hint: "Send each element once.",
          }),
        );
      known.add(keyOf(found));
      elements.push(found);
    }
    return refused ?? { elements };
  }

  /** @throws {ServiceError} 400 for an invalid selector, 403 for another site. */
  async #examineOne(
    tab: OpenTab,
    run: ActRun,
    { path, selector, ...secret }: Field & { readonly path: string },
  ): Promise<NodeAddress | ErrorCode> {
    const { elements, total } = await findBySelector(run, selector, `${path}.selector`);
    const [found] = elements;
    if (found === undefined) return "element_not_found";
    if (total !== 1) return "ambiguous_selector";
    const field = (await found.related(pickFieldFunction)) ?? found;
    const [origin, takesValue] =
      (await field.call<readonly [string, boolean]>(stateFunction, secret.value.length)) ?? [];
    if (origin === undefined) return "target_changed";
    if (!isAmongOrigins(origin, secret.origins))
      throw ServiceError.of({
        ...secretOnOtherSite(origin, secret),
        field: path,
        hint: "Nothing was typed. Open a page of one of these sites.",
      });
    if (takesValue !== true) return "element_not_editable";
    const { problem } = await new Actionable(this.#pages, tab, run, lookMs).examine(field, {
      enabled: true,
      editable: true,
    });
    if (problem !== undefined) return problem === "removed" ? "target_changed" : "element_not_editable";
    return field.address;
  }

  async #fillOne(
    tab: Tab,
    { only, selector, ...secret }: Field & { readonly only: NodeAddress },
    signal: AbortSignal,
  ): Promise<Result> {
    let isWritten = false;
    const onWrite = (): void => {
      isWritten = true;
    };
    const mayHaveValue = (): boolean => isWritten;
    try {
      await this.#actor.act(
        {
          type: "fill",
          tab: tab.id,
          selector,
          secret: { credential: secret.credential, field: "value" },
          timeout_ms: fillMs,
        },
        signal,
        { ...secret, ticket: "", only, onWrite },
      );
      return { status: "filled" };
    } catch (error) {
      const code = ServiceError.isInstance(error) && !mayHaveValue() ? codes[error.code] : undefined;
      return code === undefined ? { status: "unknown", error_code: "execution_failed" } : failed(code);
    }
  }
}

const failed = (code: ErrorCode): Result => ({ status: "failed", error_code: code });

function resultsOf(
  fields: readonly Field[],
  { at, filled, result }: { readonly at: number; readonly filled: number; readonly result: Result },
): FilledFields {
  return {
    fields: fields.map((_field, index) =>
      index === at ? result : { status: index < filled ? "filled" : "not_attempted" },
    ),
  };
}
