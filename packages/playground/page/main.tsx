import { render } from "preact";
import { App } from "./app.tsx";
import "./styles/tokens.css";

const root = document.querySelector("#root");
if (root) render(<App />, root);
