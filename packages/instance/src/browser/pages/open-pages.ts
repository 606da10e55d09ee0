import type { CdpConnection } from "../cdp/cdp-connection.ts";

/** Of several changes within this time, only the last is reported. */
const quietMs = 250;
const maxAddressCharacters = 1_024;
const maxPages = 10_000;

/** Follows the open pages of the present browser. */
export class OpenPages {
  readonly #onChange: (address: string | undefined) => void;
  /** Addresses by target, the page that was opened or navigated last at the end. */
  #pages = new Map<string, string>();
  #told: string | undefined;
  #isQuiet = false;

  /** @param onChange - receives the new {@link OpenPages.address}. */
  constructor(onChange: (address: string | undefined) => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#pages.size;
  }

  /** Address of the page that was opened or navigated last; `undefined` without a page. */
  get address(): string | undefined {
    return shownAddress(
      [...this.#pages.values()].findLast((url) => url !== "about:blank") ?? this.#pages.values().next().value,
    );
  }

  /** Replaces the pages of the last browser. Another part must enable `Target.setDiscoverTargets`. */
  follow(cdp: CdpConnection): void {
    const pages = new Map<string, string>();
    this.#pages = pages;
    const set = ({
      targetId,
      type,
      subtype,
      url,
    }: {
      targetId: string;
      type: string;
      subtype?: string;
      url: string;
    }) => {
      // A subtype marks a page that is not shown, such as a prerendered one.
      if (type !== "page" || subtype !== undefined || pages.get(targetId) === url) return;
      if (!pages.delete(targetId) && pages.size >= maxPages) return;
      pages.set(targetId, url.slice(0, 4 * maxAddressCharacters));
      this.#tell();
    };
    cdp.on("Target.targetCreated", ({ targetInfo }, sessionId) => {
      if (sessionId === undefined) set(targetInfo);
    });
    cdp.on("Target.targetInfoChanged", ({ targetInfo }, sessionId) => {
      if (sessionId === undefined) set(targetInfo);
    });
    cdp.on("Target.targetDestroyed", ({ targetId }) => {
      if (pages.delete(targetId)) this.#tell();
    });
  }

  #tell(): void {
    if (this.#isQuiet) return;
    this.#isQuiet = true;
    setTimeout(() => {
      this.#isQuiet = false;
      const { address } = this;
      if (address === this.#told) return;
      this.#told = address;
      this.#onChange(address);
    }, quietMs).unref();
  }
}

/** Omits the user name, query and fragment, which may contain secrets, and the content of `data:` addresses. */
export function shownAddress(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { host, pathname, protocol } = new URL(url);
  if (host !== "") return short(`${protocol}//${host}${pathname}`);
  if (protocol === "file:") return short(`file://${pathname}`);
  return protocol === "about:" ? short(`about:${pathname}`) : protocol;
}

function short(address: string): string {
  return address.slice(0, maxAddressCharacters).toWellFormed();
}
