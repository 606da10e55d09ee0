import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.openqa.selenium.Alert;
import org.openqa.selenium.By;
import org.openqa.selenium.HasDownloads;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.bidi.module.LogInspector;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.devtools.Command;
import org.openqa.selenium.devtools.DevTools;
import org.openqa.selenium.devtools.HasDevTools;
import org.openqa.selenium.remote.Augmenter;
import org.openqa.selenium.remote.LocalFileDetector;
import org.openqa.selenium.remote.RemoteWebDriver;
import org.openqa.selenium.remote.http.ClientConfig;
import org.openqa.selenium.support.ui.WebDriverWait;

/** Uses Selenium as on a Grid, and prints what it met. Arguments: the address with the key, a site, and a folder for files. */
class SeleniumClient {
  /** Of a slow machine. The usual limits of Selenium are 10 to 180 seconds. */
  static final Duration LIMIT = Duration.ofMinutes(10);

  public static void main(String[] args) throws Exception {
    String site = args[1];
    Path folder = Path.of(args[2]);
    ChromeOptions options = new ChromeOptions();
    options.enableBiDi();
    options.setEnableDownloads(true);
    ClientConfig config =
        ClientConfig.defaultConfig()
            .baseUri(URI.create(args[0]))
            .connectionTimeout(LIMIT)
            .readTimeout(LIMIT)
            .wsTimeout(LIMIT);
    RemoteWebDriver remote = new RemoteWebDriver(config.baseUrl(), options, config);
    remote.setFileDetector(new LocalFileDetector());
    WebDriver driver = new Augmenter().augment(remote);
    try {
      WebDriverWait wait = new WebDriverWait(driver, LIMIT);
      driver.get(site);
      driver.findElement(By.id("name")).sendKeys("Ann");
      driver.findElement(By.tagName("button")).click();
      Alert dialog = driver.switchTo().alert();
      System.out.println(dialog.getText());
      dialog.accept();

      try (LogInspector log = new LogInspector(driver)) {
        CompletableFuture<String> line = new CompletableFuture<>();
        log.onConsoleEntry(entry -> line.complete(entry.getText()));
        remote.executeScript("console.log('from the page')");
        System.out.println(line.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
      }

      DevTools devTools = ((HasDevTools) driver).getDevTools();
      devTools.createSession();
      Map<String, Object> parameters = Map.of("expression", "document.title");
      Object title =
          devTools.send(
              new Command<Object>(
                  "Runtime.evaluate",
                  parameters,
                  input -> {
                    Map<String, Map<String, Object>> answer = input.read(Map.class);
                    return answer.get("result").get("value");
                  }));
      System.out.println(title);

      Path letter = Files.writeString(folder.resolve("letter.txt"), "hello");
      driver.findElement(By.id("file")).sendKeys(letter.toString());
      wait.until(found -> found.getTitle().equals("letter.txt"));
      System.out.println(driver.getTitle());

      driver.findElement(By.linkText("report")).click();
      HasDownloads downloads = (HasDownloads) driver;
      wait.until(found -> downloads.getDownloadedFiles().stream().anyMatch(file -> file.getName().equals("report.csv")));
      downloads.downloadFile("report.csv", folder);
      System.out.print(Files.readString(folder.resolve("report.csv")));
      System.out.println(downloads.getDownloadedFiles().get(0).getSize());

      driver.switchTo().newWindow(WindowType.TAB).get(site);
      System.out.println(driver.getWindowHandles().size());
    } finally {
      driver.quit();
    }
  }
}
