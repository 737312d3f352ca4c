import type { Json, Route } from "@holodeck/agui-core";
import { createComponents } from "./openapi-components.ts";
import { mergeOperations } from "./openapi-merge.ts";
import { problemResponse, problemSchema } from "./openapi-problem.ts";
import type { Settings } from "../options/options.ts";
import { shapeOf } from "../http/router.ts";
import type { MountedRoute } from "../http/router.ts";
import { serviceOf } from "./service.ts";

export interface OpenApiOptions {
  /** @default "/openapi.json" */
  path?: string;
}

/** One method of one path, with every route that answers there. */
interface Place {
  readonly path: string;
  readonly method: string;
  readonly routes: MountedRoute[];
}

/** The OpenAPI 3.1 document of the mounted routes, built from their own descriptions. */
export async function describeApi(parts: {
  settings: Settings;
  routes: readonly MountedRoute[];
}): Promise<Json> {
  const { info, basePath, authenticate } = parts.settings;
  const service = serviceOf(info);
  const components = createComponents({ Problem: problemSchema });
  const paths: Record<string, Json> = {};
  const tags = new Set<string>();
  for (const place of placesOf(parts.routes)) {
    const own = await Promise.all(place.routes.map((mounted) => describeRoute(mounted, place)));
    const operation = mergeOperations(own.map((one) => components.adopt(one)));
    operation.operationId = components.uniqueId(String(operation.operationId));
    if (authenticate) {
      const isPublic = place.routes.every(({ route }) => route.public);
      operation.security = isPublic ? [] : [{ bearer: [] }];
    }
    for (const tag of operation.tags as string[]) tags.add(tag);
    (paths[templateOf(place.path)] ??= {})[place.method.toLowerCase()] = operation;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: service.name,
      version: service.version,
      ...(typeof info.description === "string" ? { description: info.description } : {}),
    },
    servers: [{ url: basePath || "/" }],
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: { Problem: problemResponse },
      ...(authenticate ? { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } } : {}),
    },
  };
}

/** The route of the document itself; public, and there before the agents are ready. */
export function openApiRoute(
  options: Settings["openapi"],
  describe: () => Promise<Json>,
): MountedRoute[] {
  if (options === false) return [];
  const { path = "/openapi.json" } = options;
  const route: Route = {
    method: "GET",
    path,
    public: true,
    async handle({ request }) {
      const { pathname } = request.url;
      // Only a request knows under which prefix a framework has mounted us.
      const at = pathname.endsWith(path) ? pathname.slice(0, -path.length) : "";
      return { status: 200, body: { ...(await describe()), servers: [{ url: at || "/" }] } };
    },
    operation: () => ({
      operationId: "getOpenApi",
      summary: "This document.",
      tags: ["discovery"],
      responses: {
        "200": {
          description: "The OpenAPI 3.1 description of this server.",
          content: { "application/json": { schema: { type: "object", required: ["openapi"] } } },
        },
      },
    }),
  };
  return [{ owner: "openapi", route, isAlways: true }];
}

function placesOf(routes: readonly MountedRoute[]): Place[] {
  const places = new Map<string, Place>();
  // Templates that differ only in the names of their parameters are one path to OpenAPI.
  const spelled = new Map<string, string>();
  for (const mounted of routes) {
    const { method, path: own } = mounted.route;
    const shape = shapeOf(own);
    const path = spelled.get(shape) ?? own;
    spelled.set(shape, path);
    const place = places.get(`${method} ${shape}`) ?? { path, method, routes: [] };
    place.routes.push(mounted);
    places.set(`${method} ${shape}`, place);
  }
  return [...places.values()];
}

async function describeRoute({ route, owner }: MountedRoute, place: Place): Promise<Json> {
  const described = (await route.operation?.()) ?? {};
  const { parameters = [], responses = {}, ...rest } = described as { parameters?: Json[] } & Json;
  const inPath = parameters.filter((one) => one.in === "path");
  return {
    operationId: idOf(place),
    tags: [owner],
    ...bodyOf(route),
    ...rest,
    parameters: [
      ...namesIn(place.path).map((name, index) => {
        const own = namesIn(route.path)[index];
        const known = inPath.find((one) => one.name === own);
        return { schema: { type: "string" }, ...known, name, in: "path", required: true };
      }),
      ...parameters.filter((one) => one.in !== "path"),
    ],
    responses: {
      ...(route.operation ? {} : { "2XX": { description: "The answer." } }),
      // A protocol with errors of another form describes them itself.
      ...("default" in (responses as Json) ? {} : { "4XX": problemRef, "5XX": problemRef }),
      ...(responses as Json),
    },
  };
}

const problemRef = { $ref: "#/components/responses/Problem" };

function bodyOf({ body }: Route): Json {
  if (body === undefined) return {};
  const content: Json = {};
  if (body !== "multipart") content["application/json"] = { schema: {} };
  if (body.endsWith("multipart")) content["multipart/form-data"] = { schema: { type: "object" } };
  return { requestBody: { required: body !== "optional-json", content } };
}

function namesIn(path: string): string[] {
  return path.split("/").flatMap((part) => (part.startsWith(":") ? part.slice(1) : []));
}

function templateOf(path: string): string {
  return path.replaceAll(/:([^/]+)/g, "{$1}");
}

function idOf({ method, path }: Place): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return (
    method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")
  );
}
