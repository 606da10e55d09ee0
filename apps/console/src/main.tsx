import "./app/mantine-base.css";
import "./app/mantine.css";
import "./app/global.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { allowLibraryStyles } from "./base/nonce.ts";

allowLibraryStyles();
const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
