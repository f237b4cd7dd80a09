package zerohop;

import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs classes of {@link Contracts} in one JVM: {@code ContractRunner NAME...}; {@code KEY=VALUE} sets a system
 * property for those behind it. A line a test on standard output: {@code pass|fail|skip}, the property
 * {@code zerohop.door}, class and method, reason; tab-separated.
 */
public final class ContractRunner extends RunListener {
  private String verdict;
  private String reason;

  public static void main(String[] names) throws Exception {
    JUnitCore core = new JUnitCore();
    core.addListener(new ContractRunner());
    for (String name : names) {
      int equals = name.indexOf('=');
      if (equals >= 0) {
        System.setProperty(name.substring(0, equals), name.substring(equals + 1));
        continue;
      }
      core.run(Class.forName("zerohop.Contracts$" + name));
    }
    System.exit(0);
  }

  @Override
  public void testStarted(Description test) {
    verdict = "pass";
    reason = "";
  }

  @Override
  public void testFailure(Failure failure) {
    boolean inside = failure.getDescription().getMethodName() != null;
    verdict = "fail";
    reason = failure.getTrimmedTrace();
    if (!inside) {
      report(failure.getDescription());
    }
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    verdict = "skip";
    reason = String.valueOf(failure.getMessage());
  }

  @Override
  public void testIgnored(Description test) {
    verdict = "skip";
    reason = "ignored";
    report(test);
  }

  @Override
  public void testFinished(Description test) {
    report(test);
  }

  private void report(Description test) {
    String name = test.getTestClass() == null ? test.getClassName() : test.getTestClass().getSimpleName();
    String[] lines = reason.split("\n");
    StringBuilder brief = new StringBuilder();
    for (int i = 0; i < Math.min(lines.length, 12); i++) {
      brief.append(i == 0 ? "" : "\n").append(lines[i]);
    }
    System.out.println(verdict + "\t" + System.getProperty("zerohop.door", "") + name + "#" + test.getMethodName() + "\t" + Text.escape(brief.toString()));
    System.out.flush();
  }
}
