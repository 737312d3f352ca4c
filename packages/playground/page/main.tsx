import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./shell/theme.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/chat.css";
import "./styles/cards.css";
import "./styles/markdown.css";

applyTheme();
const root = document.querySelector("#root");
if (root) render(<App />, root);
