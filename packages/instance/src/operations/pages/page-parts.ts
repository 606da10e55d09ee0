import type { BytesReply } from "@shoal/router";
import type { BeforeClose } from "../../browser/pages/closing.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { EgressFailures } from "../../egress/failures.ts";
import { maxPictureBytes } from "../../protocol/flow.ts";
import type { TypedSecrets } from "../../secrets/typed-secrets.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { ActEvent } from "./act/act-note.ts";
import { PageActor } from "./act/page-actor.ts";
import type { ActLog } from "./act/record/act-log.ts";
import { FieldFiller } from "./fill/field-filler.ts";
import { StepReplayer } from "./flows/step-replayer.ts";
import { observe, type ObserveOptions } from "./outline/observe.ts";
import { PersonActs } from "./person/person-acts.ts";
import { PageCamera } from "./pictures/page-camera.ts";
import { type PrintOptions, printPage } from "./pictures/print-page.ts";
import { PageReader } from "./read/page-reader.ts";
import { readElements } from "./reading/read-page.ts";
import { renderPage } from "./render/render-page.ts";
import type { InstanceRenderRequest } from "./render/render-request.ts";
import { SessionPages } from "./tabs/session-pages.ts";
import { PageToolCaller } from "./tools/page-tools.ts";
import type { CustomToolSource } from "./tools/custom-page-tools.ts";
import { RunningTools } from "./tools/running-tools.ts";
import { SessionToolCaller } from "./tools/session-tools.ts";

export interface PagesParts {
  readonly browser: Pick<BrowserSupervisor, "cdp">;
  readonly root: SessionRoot;
  readonly failures: EgressFailures | undefined;
  readonly secrets: TypedSecrets;
  readonly customTools: CustomToolSource;
  /** Whether pages may show secrets of a login. */
  readonly hidesContent: () => boolean;
  /** Called after each action of `browsers.act`. */
  readonly onAct?: (event: ActEvent) => void;
  /** Whether `onAct` gets outlines. */
  readonly takesOutlines?: () => boolean;
  readonly beforeClose?: BeforeClose;
}

/** Loaded with the first call; one file of the built program. */
export class PageParts {
  readonly actor: PageActor;
  readonly camera: PageCamera;
  readonly filler: FieldFiller;
  readonly person: PersonActs;
  readonly reader: PageReader;
  readonly replayer: StepReplayer;
  readonly sessionTools: SessionToolCaller;
  readonly tools: PageToolCaller;
  readonly #failures: PagesParts["failures"];
  readonly #pages: SessionPages;

  constructor(parts: PagesParts, recorded: ActLog) {
    const { beforeClose, browser, customTools, failures, hidesContent, root, secrets } = parts;
    const { onAct = () => undefined, takesOutlines = () => false } = parts;
    const pages = new SessionPages(browser, readElements, beforeClose);
    const running = new RunningTools();
    this.#failures = failures;
    this.#pages = pages;
    this.reader = new PageReader(pages, secrets.inText);
    const { observe } = this;
    this.actor = new PageActor({ pages, root, failures, observe, secrets, recorded, onAct, takesOutlines });
    this.person = new PersonActs({ pages, recorded, secrets });
    this.filler = new FieldFiller({ actor: this.actor, pages });
    const camera = new PageCamera(pages);
    this.camera = camera;
    // Like other pictures that are stored: none where a page may show a value that the caller does not know.
    const takePicture = async () =>
      secrets.hidesPages || hidesContent() ? undefined : camera.takeSmall(maxPictureBytes);
    this.replayer = new StepReplayer({ actor: this.actor, pages, takePicture });
    this.tools = new PageToolCaller(pages, running);
    this.sessionTools = new SessionToolCaller(pages, running, customTools);
  }

  readonly observe = (options: ObserveOptions) => observe(this.#pages, options, this.reader);

  async print(options: PrintOptions): Promise<BytesReply> {
    return printPage(await this.#pages.tab(options.tab), options);
  }

  render(request: InstanceRenderRequest, signal: AbortSignal): Promise<BytesReply> {
    const { camera, reader } = this;
    return renderPage({ pages: this.#pages, camera, reader, failures: this.#failures }, request, signal);
  }

  async close(): Promise<void> {
    this.actor.close();
    this.tools.close();
    this.sessionTools.close();
    await Promise.all([this.#pages.close(), this.reader.close()]);
  }
}
