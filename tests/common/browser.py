"""Chromium without a window, driven through a pipe: pages of files, the keyboard, pictures. Needs nothing but Chromium."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 120  # until an answer, on a machine that is busy with other tests


WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]  # which is the processor


class Browser:
    """`with Browser() as browser:`. What a page writes to its console, or throws, is in `complaints`."""

    def __init__(self, webgpu=False):
        self.graphics = WEBGPU if webgpu else ["--disable-gpu"]

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def pipes_at_3_and_4():
            copies = os.dup(to_browser), os.dup(from_browser)  # which may be 3 and 4 themselves
            for number, copy in zip((3, 4), copies):
                os.dup2(copy, number)

        words = [PROGRAM, "--headless=new", "--no-sandbox", *self.graphics, "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                 "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.home.name}", "about:blank"]
        self.process = subprocess.Popen(words, preexec_fn=pipes_at_3_and_4, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=os.environ | {"HOME": self.home.name})
        os.close(to_browser), os.close(from_browser)
        self.number, self.rest, self.complaints, self.session, self.loaded = 0, b"", [], None, False
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands), os.close(self.answers)
        for _ in range(50):  # its children may still be writing
            try:
                self.home.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        """The next message; events leave their traces."""
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(line)
        method, told = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(told["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        return message

    def open(self, path):
        """A file, or an address."""
        self.loaded = False
        self.call("Page.navigate", url=path if str(path).startswith("http") else Path(path).resolve().as_uri())
        while not self.loaded:
            self.receive()

    def value(self, expression):
        """Of a JavaScript expression, as JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:300]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, code=0, text=""):
        """A key, such as Tab or Enter."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code or codes.get(key, 0)}
        text = text or {"Enter": "\r"}.get(key, "")
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def draw(self, points):
        """A line with the mouse, from one point of the window to the next."""
        for i, (x, y) in enumerate(points):
            self.call("Input.dispatchMouseEvent", type="mouseMoved" if i else "mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=points[-1][0], y=points[-1][1], button="left", clickCount=1)

    def write(self, text):
        """Into what has the focus."""
        self.call("Input.insertText", text=text)

    def set_size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def set_dark(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def set_scripts(self, allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))
