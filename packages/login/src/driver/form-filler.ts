import type { OutlineNode, PageOutline } from "@shoal/instance";
import type { FieldKind } from "../reading/field-kinds.ts";
import type { ReadField, ReadForm } from "../reading/forms.ts";
import type { LoginPage } from "./login-page.ts";
import { fail, type LoginOutcome } from "./outcome.ts";
import type { FoundValue } from "./values.ts";

const maxReplacements = 4;
/** Kinds of fields whose values may appear in recordings and live views. */
const visibleKinds: ReadonlySet<FieldKind> = new Set(["username", "email", "phone", "organization", "search"]);

/** @param place - host or origin of the field. */
export function notForSite(place = ""): string {
  return `The field belongs to ${place === "" ? "an unknown site" : place}, and the stored credential is not for this site. An administrator can add the site to the credential.`;
}

/** Fills and sends forms, also on pages that render their fields again. */
export class FormFiller {
  readonly #page: LoginPage;
  readonly #hosts: readonly string[];
  readonly #storedOrigins: readonly string[] | undefined;

  /** @param storedOrigins - of stored values; narrower than `hosts`. */
  constructor(page: LoginPage, hosts: readonly string[], storedOrigins: readonly string[] | undefined) {
    this.#page = page;
    this.#hosts = hosts;
    this.#storedOrigins = storedOrigins;
  }

  /** Sends the form: clicks its button, or presses Enter. */
  async submit(form: ReadForm, kinds: readonly FieldKind[]): Promise<void> {
    const page = this.#page;
    const sendsItself = kinds.length === 1 && kinds[0] === "otp" && (form.fields[0]?.nodes.length ?? 1) > 1;
    const node = form.submit === undefined ? undefined : await this.#present(form.submit);
    if (node === undefined) {
      if (!sendsItself) await page.act({ kind: "press", key: "Return" });
      return;
    }
    const { outcome } = await page.act({ kind: "click", ref: node.ref });
    // A form that validates while typing enables its button a moment later.
    if (outcome === "unusable") {
      await page.settle({ quiet_ms: 200, timeout_ms: 2_000 });
      await page.act({ kind: "click", ref: node.ref });
    } else if (outcome !== "done" && !sendsItself) await page.act({ kind: "press", key: "Return" });
  }

  /** The node in the present page, which may have rendered it again. */
  async #present(node: OutlineNode): Promise<OutlineNode | undefined> {
    const { nodes } = (await this.#page.read()).outline;
    return (
      nodes.find(({ ref }) => ref === node.ref) ??
      nodes.find(({ name, role, hidden }) => name === node.name && role === node.role && hidden === undefined)
    );
  }

  /** Types a value; into boxes, one character each. Returns a failure. */
  async fill(
    field: ReadField,
    { isStored, value: whole }: Pick<FoundValue, "isStored" | "value">,
    outline: PageOutline,
  ): Promise<LoginOutcome | undefined> {
    const { nodes } = field;
    const origins = isStored ? this.#storedOrigins : undefined;
    const value = field.kind === "phone" ? await this.#chooseCountry(outline, whole, origins) : whole;
    const isBoxes = nodes.length > 1;
    for (const [place] of nodes.entries()) {
      const failure = await this.#fillNode(field, place, { value: isBoxes ? (value[place] ?? "") : value, origins });
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** Selects the country of a number, if the page has a list of countries, and returns the rest. */
  async #chooseCountry(
    { nodes }: PageOutline,
    number: string,
    origins: readonly string[] | undefined,
  ): Promise<string> {
    const digits = number.replace(/[^\d+]/g, "");
    for (const { options = [], ref, hidden } of nodes) {
      if (hidden !== undefined || !digits.startsWith("+")) continue;
      const codes = options.map((option) => ({
        option,
        code: /\+\d[\d ]*/.exec(option)?.[0].replaceAll(" ", "") ?? "",
      }));
      const [best] = codes
        .filter(({ code }) => code !== "" && digits.startsWith(code))
        .sort((first, second) => second.code.length - first.code.length);
      if (best === undefined) continue;
      const { outcome } = await this.#page.act({
        kind: "select",
        ref,
        option: best.option,
        ...(origins && { origins: [...origins] }),
      });
      if (outcome === "done") return digits.slice(best.code.length);
    }
    return number;
  }

  async #fillNode(
    field: ReadField,
    place: number,
    { origins, value }: { readonly value: string; readonly origins: readonly string[] | undefined },
  ): Promise<LoginOutcome | undefined> {
    const hosts = this.#hosts;
    const page = this.#page;
    let node = field.nodes[place];
    for (let attempt = 0; attempt < maxReplacements && node !== undefined; attempt++) {
      const visible = visibleKinds.has(field.kind);
      const { detail, outcome } = await page.act({
        kind: "fill",
        ref: node.ref,
        value,
        hosts: [...hosts],
        visible,
        ...(origins && { origins: [...origins] }),
      });
      if (outcome === "refused_host" && origins !== undefined) return fail("domain_not_allowed", notForSite(detail));
      if (outcome === "refused_host")
        return fail("domain_not_allowed", `The field belongs to ${detail ?? "a host"}, which is not allowed.`);
      if (outcome === "done" || outcome === "partly") return undefined;
      // The last box of a code may send it before the call returns.
      if (outcome === "unusable" && place > 0) return undefined;
      await page.settle({ quiet_ms: 100, timeout_ms: 2_000 });
      const { form } = (await page.read()).reading;
      const again: ReadField | undefined = form?.fields.find(
        ({ kind, name }) => kind === field.kind && name === field.name,
      );
      node = again?.nodes[place] ?? (await this.#present(node));
    }
    return fail("element_not_found", `The field ${field.name} cannot be filled.`);
  }
}
