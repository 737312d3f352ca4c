import { Inspector } from "./inspector/inspector.tsx";
import { current } from "./model.ts";

export function App() {
  return (
    <main>
      <Inspector exchange={current.value} />
    </main>
  );
}
