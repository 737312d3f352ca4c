import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { createApp, toExpressHandler } from "../app.node.mjs";

function AppModule() {}
Module({})(AppModule);

const app = await NestFactory.create(AppModule, { logger: false });
app.use("/api", toExpressHandler(createApp()));
await app.listen(Number(process.env.PORT), "127.0.0.1");
