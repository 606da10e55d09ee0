import "./app/mantine-base.css";
import "./app/global.css";
import { MantineProvider } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { theme } from "./app/theme.ts";
import { styleNonce } from "./base/nonce.ts";
import { SharedReplay } from "./player/shared-replay.tsx";

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
        <SharedReplay address={location.origin + location.pathname.replace(/(?<!\/)\/+$/, "")} />
      </MantineProvider>
    </StrictMode>,
  );
