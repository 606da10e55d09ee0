import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Suspense } from "react";
import { takePageKey } from "../api/console-session.ts";
import { styleNonce } from "../base/nonce.ts";
import { queries } from "./queries.ts";
import { router } from "./router.tsx";
import { theme } from "./theme.ts";
import { lazyPart } from "../parts/lazy-part.ts";

/** Loaded after the page: a notice follows an action. */
const Notices = lazyPart(() => import("../parts/notice-area.tsx"), "NoticeArea");

// Before the first request.
takePageKey();

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
      <QueryClientProvider client={queries}>
        <Suspense>
          <Notices />
        </Suspense>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
