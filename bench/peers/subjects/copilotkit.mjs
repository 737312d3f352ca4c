// CopilotKit's runtime v2 on `node:http`, with its own kind of agent.
import { createServer } from "node:http";
import { AbstractAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { Observable } from "rxjs";
import { listen, runEvents } from "./_work.mjs";

class Speaker extends AbstractAgent {
  clone() {
    return new Speaker();
  }

  run(input) {
    return new Observable((observer) => {
      const speak = async () => {
        for await (const event of runEvents(input)) observer.next(event);
        observer.complete();
      };
      speak().catch((error) => observer.error(error));
    });
  }
}

export async function start() {
  const runtime = new CopilotRuntime({ agents: { default: new Speaker() } });
  return listen(createServer(createCopilotNodeListener({ runtime, basePath: "/" })));
}
