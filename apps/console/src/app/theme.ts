import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "cyan",
  // Dark enough for white text on buttons.
  primaryShade: 9,
  defaultRadius: "md",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  headings: { fontWeight: "650" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // The header of a dialog is not a banner of the page.
    Modal: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        attributes: { header: { role: "presentation" } },
        centered: true,
      },
    },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
  },
});
