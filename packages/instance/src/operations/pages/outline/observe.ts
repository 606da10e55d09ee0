import type { CheckedRequestOf, observePage } from "@shoal/contract";
import type { PageObservation } from "@shoal/schemas";
import type { SessionPages } from "../tabs/session-pages.ts";

type Options = CheckedRequestOf<typeof observePage>["body"];

/** Outlines a tab. */
export async function observe(pages: SessionPages, options: Options): Promise<PageObservation> {
  const [{ id, page }, tabs] = await Promise.all([pages.tab(options.tab), pages.tabs()]);
  const present = tabs.find((tab) => tab.id === id);
  const { dialog } = page.session;
  return {
    url: present?.url ?? "",
    title: present?.title ?? "",
    tab: id,
    tabs: [...tabs],
    outline: "",
    tokens: 0,
    left_out: 0,
    diff: false,
    ...(dialog !== undefined && {
      dialog: {
        type: dialog.type,
        message: dialog.message,
        ...(dialog.type === "prompt" && { default_text: dialog.defaultText }),
      },
    }),
    scroll: { above: 0, below: 0 },
  };
}
