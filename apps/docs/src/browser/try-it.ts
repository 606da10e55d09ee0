import { formFields, sampleOf } from "../reference/examples.ts";
import { contentOf, type Endpoint, endpointsOf, type OpenApi } from "../reference/openapi.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { type Person, readPerson, showPerson } from "./person.ts";
import { serviceUrl } from "./place.ts";
import { type TryField, tryRequest } from "./try-request.ts";

async function readDocument(): Promise<OpenApi> {
  const answer = await fetch(`${serviceUrl}/openapi.json`);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for openapi.json.`);
  return (await answer.json()) as OpenApi;
}

let known: Promise<[OpenApi, Awaited<ReturnType<typeof readPerson>>]> | undefined;

/** Opens or closes the form of an operation, next to its description. */
export async function tryOperation(operationId: string, button: HTMLElement): Promise<void> {
  const place = button.closest("p");
  const next = place?.nextElementSibling;
  if (next?.classList.contains("trial") === true) {
    next.remove();
    button.ariaExpanded = "false";
    return;
  }
  const panel = Object.assign(document.createElement("div"), { className: "trial" });
  panel.role = "group";
  panel.ariaLabel = `Try ${operationId}`;
  place?.after(panel);
  button.ariaExpanded = "true";
  try {
    const [document, session] = await (known ??= Promise.all([readDocument(), readPerson()]));
    const endpoint = endpointsOf(document).find((each) => each.operationId === operationId);
    if (endpoint === undefined) throw new Error(`This service does not have the operation ${operationId}.`);
    fill(panel, { document, endpoint, person: showPerson(session) });
    panel.querySelector<HTMLElement>("input, select, textarea, button")?.focus();
  } catch (error) {
    known = undefined;
    panel.replaceChildren(noteOf(String(error)));
  }
}

interface Parts {
  readonly document: OpenApi;
  readonly endpoint: Endpoint;
  readonly person: Person;
}

function noteOf(text: string): HTMLElement {
  const note = Object.assign(document.createElement("p"), { textContent: text });
  note.role = "alert";
  return note;
}

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Control = readonly [place: TryField["place"], name: string, input: Input];

function labelled(text: string, input: Input): HTMLElement {
  const label = document.createElement("label");
  label.append(text, input);
  return label;
}

function parameterControls({ parameters = [] }: Endpoint): Control[] {
  return parameters
    .filter(({ name }) => name !== "X-Shoal-Project")
    .map(({ in: place, name, schema }) => {
      const values = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
      const input = values === undefined ? document.createElement("input") : document.createElement("select");
      if (input instanceof HTMLSelectElement)
        for (const value of ["", ...(values ?? [])]) input.add(new Option(String(value)));
      return [place as TryField["place"], name, input] as const;
    });
}

function bodyControls({ document: contract, endpoint }: Parts): Control[] {
  const content = contentOf(endpoint.requestBody?.content);
  if (content === undefined) return [];
  if (content.type === "application/json") {
    const value = JSON.stringify(sampleOf(contract, content.schema), undefined, 2);
    return [["json", "Body", Object.assign(document.createElement("textarea"), { value, spellcheck: false })]];
  }
  const inputOf = (isFile: boolean) =>
    Object.assign(document.createElement("input"), { type: isFile ? "file" : "text" });
  if (content.type !== "multipart/form-data") return [["bytes", "File", inputOf(true)]];
  return formFields(contract, content.schema, "").map(({ isFile, name }) => ["part", name, inputOf(isFile)]);
}

function fill(panel: HTMLElement, parts: Parts): void {
  const { endpoint, person } = parts;
  const form = document.createElement("form");
  const controls = [...parameterControls(endpoint), ...bodyControls(parts)];
  const send = Object.assign(document.createElement("button"), { type: "submit", textContent: "Send" });
  const copy = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy as curl" });
  const actions = Object.assign(document.createElement("div"), { className: "actions" });
  actions.append(send, copy);
  const result = document.createElement("div");
  result.className = "answer";
  result.ariaLive = "polite";
  form.append(person.area, ...controls.map(([, name, input]) => labelled(name, input)), actions);
  panel.replaceChildren(form, result);
  const request = () =>
    tryRequest(
      endpoint,
      controls.map(([place, name, input]) => ({
        place,
        name,
        value: input instanceof HTMLInputElement && input.type === "file" ? (input.files?.[0] ?? "") : input.value,
      })),
      serviceUrl,
    );
  const refuse = (error: unknown) => {
    result.replaceChildren(noteOf(error instanceof Error ? error.message : String(error)));
  };
  const submit = async () => {
    send.disabled = true;
    try {
      result.replaceChildren(...(await sendRequest(request(), person)));
    } catch (error) {
      refuse(error);
    } finally {
      send.disabled = false;
    }
  };
  copy.addEventListener("click", () => {
    try {
      void navigator.clipboard.writeText(request().curl).then(() => (copy.textContent = "Copied"));
    } catch (error) {
      refuse(error);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
}

async function sendRequest({ init, url }: ReturnType<typeof tryRequest>, person: Person): Promise<HTMLElement[]> {
  const begun = performance.now();
  const headers = { accept: "*/*", ...init.headers, ...person.headers() };
  const answer = await boundedFetch(url, { ...init, headers });
  const type = answer.headers.get("content-type") ?? "";
  const ms = Math.round(performance.now() - begun);
  const summary = document.createElement("p");
  summary.append(
    Object.assign(document.createElement("strong"), { textContent: `${answer.status} ${answer.statusText}` }),
    ` in ${ms} ms`,
  );
  const headerText = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  return [summary, await contentShown(answer, type), blockOf(headerText)];
}

function blockOf(text: string): HTMLElement {
  const block = Object.assign(document.createElement("div"), { className: "code" });
  const pre = Object.assign(document.createElement("pre"), { tabIndex: 0 });
  pre.append(Object.assign(document.createElement("code"), { textContent: text }));
  block.append(pre);
  return block;
}

async function contentShown(answer: Response, type: string): Promise<HTMLElement> {
  if (/json|text/.test(type)) {
    const text = await answer.text();
    return blockOf(type.startsWith("application/json") ? pretty(text) : text);
  }
  const content = await answer.blob();
  if (content.size === 0) return Object.assign(document.createElement("p"), { textContent: "No content." });
  const paragraph = document.createElement("p");
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(content),
    download: `answer.${/\w+$/.exec(type)?.[0] ?? "bin"}`,
    textContent: `Save the answer (${content.size.toLocaleString("en")} bytes, ${type})`,
  });
  paragraph.append(link);
  return paragraph;
}

/** A cut text is not valid JSON. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
